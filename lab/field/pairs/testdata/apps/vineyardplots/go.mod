module vineyardplots

go 1.26
