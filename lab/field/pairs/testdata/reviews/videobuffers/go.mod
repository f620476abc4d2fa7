module videobuffers

go 1.26
