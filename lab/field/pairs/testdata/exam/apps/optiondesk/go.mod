module optiondesk

go 1.23
