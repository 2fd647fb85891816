"""What a person teaches: a goal in their words, behaviours by name, and what they say for them.

Source: ProVox, 'Meta-Prompting & Proactive Planning'.
"""
