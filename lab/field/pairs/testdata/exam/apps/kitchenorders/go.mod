module kitchenorders

go 1.22
