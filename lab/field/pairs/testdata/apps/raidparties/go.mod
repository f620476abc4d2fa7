module raidparties

go 1.26
