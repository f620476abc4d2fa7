module dockportals

go 1.26
