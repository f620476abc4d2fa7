module netlinkports

go 1.26

require github.com/mdlayher/netlink v1.1.1

require (
	golang.org/x/net v0.0.0-20201010224723-4f7140c49acb // indirect
	golang.org/x/sys v0.0.0-20201009025420-dfb3f7c4e634 // indirect
)
