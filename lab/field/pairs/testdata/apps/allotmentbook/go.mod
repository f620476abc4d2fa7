module allotmentbook

go 1.26
