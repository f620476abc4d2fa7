// Protomaps saves the folders of a file store as protocol buffers.
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/golang/protobuf/proto"
)

// A Folder is a message with two maps.
type Folder struct {
	Owner   string             `protobuf:"bytes,1,opt,name=owner,proto3"`
	Sizes   map[string]int64   `protobuf:"bytes,2,rep,name=sizes,proto3" protobuf_key:"bytes,1,opt,name=key,proto3" protobuf_val:"varint,2,opt,name=value,proto3"`
	Folders map[string]*Folder `protobuf:"bytes,3,rep,name=folders,proto3" protobuf_key:"bytes,1,opt,name=key,proto3" protobuf_val:"bytes,2,opt,name=value,proto3"`

	XXX_sizecache int32
}

// Reset empties a folder.
func (f *Folder) Reset() { *f = Folder{} }

// String is a folder as text.
func (f *Folder) String() string { return proto.CompactTextString(f) }

// ProtoMessage marks folders as messages.
func (*Folder) ProtoMessage() {}

// tree is a folder with others in it, depth levels of them.
func tree(owner string, depth int) *Folder {
	f := &Folder{Owner: owner, Sizes: map[string]int64{}, Folders: map[string]*Folder{}}
	for i := range 3 {
		f.Sizes[fmt.Sprintf("file%d.txt", i)] = int64(i * depth * 100)
	}
	if depth > 0 {
		f.Folders["archive"] = tree(owner, depth-1)
	}
	return f
}

func save(f *Folder) (int, error) {
	text, err := proto.Marshal(f)
	return len(text), err
}

func main() {
	rounds := flag.Int("rounds", 1500, "how often everything is saved")
	depth := flag.Int("depth", 60, "levels of folders")
	flag.Parse()
	all := []*Folder{tree("ann", *depth), tree("bob", *depth/2)}
	size := 0
	for range *rounds {
		for _, f := range all {
			n, err := save(f)
			if err != nil {
				log.Fatal(err)
			}
			size += n
		}
	}
	fmt.Println("bytes:", size)
	fmt.Printf("operations: %d\n", *rounds*len(all))
}
