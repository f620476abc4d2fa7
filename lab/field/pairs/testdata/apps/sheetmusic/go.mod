module sheetmusic

go 1.26
