module sessionsmap

go 1.26
