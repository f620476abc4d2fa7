module taxiheap

go 1.26
