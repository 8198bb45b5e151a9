class ShelfmarkError(Exception):
    """Something that a user can repair. Its text is a sentence."""
