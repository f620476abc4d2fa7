module bankchannel

go 1.26
