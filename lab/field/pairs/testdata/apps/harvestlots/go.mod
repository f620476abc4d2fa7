module harvestlots

go 1.26
