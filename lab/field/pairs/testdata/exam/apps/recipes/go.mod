module recipes

go 1.26
