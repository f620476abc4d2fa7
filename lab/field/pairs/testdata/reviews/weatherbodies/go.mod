module weatherbodies

go 1.26
