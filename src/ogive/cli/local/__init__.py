"""The command `ogive local`: reports that their owners randomize, by files."""
