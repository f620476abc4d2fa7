module depotsheets

go 1.26
