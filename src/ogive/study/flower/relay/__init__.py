"""The relay app. `ogive study flower` writes copies of these files, which need Flower and none of ogive."""
