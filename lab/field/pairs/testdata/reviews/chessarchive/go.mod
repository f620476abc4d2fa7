module chessarchive

go 1.26
