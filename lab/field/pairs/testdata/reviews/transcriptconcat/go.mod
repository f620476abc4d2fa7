module transcriptconcat

go 1.26
