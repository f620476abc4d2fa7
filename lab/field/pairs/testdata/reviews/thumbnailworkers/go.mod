module thumbnailworkers

go 1.26
