module ratelimitspin

go 1.26

require go.uber.org/ratelimit v0.2.0

require github.com/andres-erbsen/clock v0.0.0-20160526145045-9e14626cd129 // indirect
