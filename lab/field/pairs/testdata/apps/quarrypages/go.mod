module quarrypages

go 1.26
