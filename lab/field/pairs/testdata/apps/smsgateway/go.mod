module smsgateway

go 1.26
