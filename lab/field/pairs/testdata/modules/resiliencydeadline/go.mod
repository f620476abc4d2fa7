module resiliencydeadline

go 1.26

require github.com/eapache/go-resiliency v1.2.0
