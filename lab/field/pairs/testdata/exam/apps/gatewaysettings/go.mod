module gatewaysettings

go 1.26
