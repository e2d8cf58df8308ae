"""Output of commands: text about models, commands to run next, and prediction files."""
