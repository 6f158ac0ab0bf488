"""Makes a list of commands shorter while it still fails."""


def shrink(commands, fails):
    """Leaves commands out, halves first and single ones last, until none can go.

    `fails` judges a shorter list; it is never asked about an empty one.
    """
    size = max(len(commands) // 2, 1)
    while True:
        shorter = _without_runs(commands, size, fails)
        if len(shorter) == len(commands) and size == 1:
            return commands
        if len(shorter) == len(commands):
            size //= 2
        commands = shorter


def _without_runs(commands, size, fails):
    """Leaves out every run of so many commands that can go, from the end."""
    start = len(commands) - size
    while start >= 0:
        shorter = commands[:start] + commands[start + size:]
        if shorter and fails(shorter):
            commands = shorter
        start = min(start - size, len(commands) - size)
    return commands
