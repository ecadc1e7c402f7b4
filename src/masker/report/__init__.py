"""Results for people: tables on the console."""
