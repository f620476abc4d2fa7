module haulquotes

go 1.26
