module partsquotes

go 1.23
