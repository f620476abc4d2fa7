module patentwatch

go 1.26
