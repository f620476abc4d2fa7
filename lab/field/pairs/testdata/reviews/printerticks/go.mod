module printerticks

go 1.26
