module bondticks

go 1.26
