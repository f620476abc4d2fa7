module inventoryany

go 1.26
