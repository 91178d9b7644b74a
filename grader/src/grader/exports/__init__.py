"""From grades to what spreadsheets and learning platforms read."""
