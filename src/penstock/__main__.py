"""`python -m penstock`: the shell."""

from penstock.cli import main

if __name__ == "__main__":
    main()
