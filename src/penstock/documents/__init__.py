"""Documents: objects that people write as YAML or JSON.

problems.py   all that is wrong with a file, told at once, each mistake with its line and key
files.py      a file as plain data with the line of every value; written again as YAML
models.py     a file as a typed object, by its model; the JSON schema of the model
shelf.py      objects by kind and id: the user's own folder over the library that ships
"""
