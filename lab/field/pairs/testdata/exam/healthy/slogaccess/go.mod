module slogaccess

go 1.26
