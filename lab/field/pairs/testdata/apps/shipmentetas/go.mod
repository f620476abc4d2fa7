module shipmentetas

go 1.26
