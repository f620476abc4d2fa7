module logscan

go 1.26
