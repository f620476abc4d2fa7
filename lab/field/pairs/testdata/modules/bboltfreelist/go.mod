module bboltfreelist

go 1.26

require go.etcd.io/bbolt v1.3.11

require golang.org/x/sys v0.4.0 // indirect
