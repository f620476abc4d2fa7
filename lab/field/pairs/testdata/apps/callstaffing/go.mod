module callstaffing

go 1.26
