"""Exports grades to spreadsheets and learning platforms."""
