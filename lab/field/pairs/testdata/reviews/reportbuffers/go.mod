module reportbuffers

go 1.26
