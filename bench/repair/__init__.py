"""How often advice repairs a faulty run, and how often it does harm."""
