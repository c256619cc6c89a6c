"""Attacks that drive a conversation, most of them with an attacker's model: one file each.

What they share: `material` shows texts to that model as data, `writing` asks it for prompts, and
`levels` does things side by side so that a run which is begun again asks exactly the same.
"""
