module arcadelinks

go 1.26
