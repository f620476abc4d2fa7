module imagefinalizers

go 1.26
