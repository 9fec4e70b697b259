"""How dates and numbers are written in each language, where Django's own way does not serve a panel."""
