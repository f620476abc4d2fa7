module syslogpackets

go 1.26
