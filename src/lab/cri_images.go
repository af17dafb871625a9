package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// image is one of the lab's images. None is pulled: the userland is the host's root file system, read-only with a
// writable layer per container. What makes it an image of something is its entrypoint, and for --image a directory
// of the host at /opt/numa-operator.
type image struct {
	name       string // without tag and digest
	about      string
	dir        string // in the node, mounted on imageMount; "" for none
	entrypoint []string
	env        []string
	workingDir string
	user       string // numeric, as a Dockerfile's USER; "" is root
	links      map[string]string
}

// imageMount is where a container finds its --image directory.
const imageMount = "/opt/numa-operator"

// containerBinary is where a container finds this program.
const containerBinary = "/usr/local/lib/numalab/numalab"

const containerPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// imageConfig is what a node is told about images.
type imageConfig struct {
	Images   map[string]string `json:"images,omitempty"`
	JavaHome string            `json:"javaHome,omitempty"`
	BindJava bool              `json:"bindJava,omitempty"` // it is not on the root file system
}

// imageManifest is the file image.json that an --image directory may hold: what a Dockerfile says.
type imageManifest struct {
	Entrypoint []string `json:"entrypoint,omitempty"`
	Env        []string `json:"env,omitempty"`
	WorkingDir string   `json:"workingDir,omitempty"`
	User       string   `json:"user,omitempty"`
}

func builtInImages() []*image {
	// not this program: each start of it costs a fifth of a CPU second, for the libraries of Kubernetes in it
	pause := []string{"/bin/sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 1000 & wait; done"}
	return []*image{
		{name: "registry.k8s.io/pause", about: "sleeps until SIGTERM", entrypoint: pause},
		{name: "numa.test/pause", about: "sleeps until SIGTERM", entrypoint: pause},
		{name: "numa.test/busybox", about: "runs the given command in the host's userland"},
		{name: "registry.k8s.io/kube-scheduler", about: "the real kube-scheduler",
			entrypoint: []string{"/usr/local/bin/kube-scheduler"}, links: map[string]string{"/usr/local/bin/kube-scheduler": containerBinary}},
	}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// imageDir is where a node has the i-th --image directory (in the order of their names).
func imageDir(i int) string { return fmt.Sprintf("%s/%d", nodeImages, i) }

// labImages are the built-in images and those of the configuration.
func labImages(config imageConfig) (map[string]*image, error) {
	out := map[string]*image{}
	for _, image := range builtInImages() {
		out[image.name] = image
	}
	for i, name := range sortedKeys(config.Images) {
		img := &image{name: repository(name), about: config.Images[name], dir: imageDir(i),
			env: []string{"PATH=" + imageMount + "/bin:" + containerPath}}
		if config.JavaHome != "" {
			img.env = append(img.env, "JAVA_HOME="+config.JavaHome)
			img.env[0] = "PATH=" + imageMount + "/bin:" + config.JavaHome + "/bin:" + containerPath
		}
		var manifest imageManifest
		if err := readJSON(filepath.Join(img.dir, "image.json"), &manifest); err == nil {
			img.entrypoint, img.workingDir, img.user = manifest.Entrypoint, manifest.WorkingDir, manifest.User
			img.env = append(img.env, manifest.Env...)
		} else if !os.IsNotExist(err) {
			return nil, fmt.Errorf("image %s: image.json: %w", name, err)
		}
		out[img.name] = img
	}
	return out, nil
}

// repository strips tag and digest: the lab's images exist in every version.
func repository(reference string) string {
	name, _, _ := strings.Cut(reference, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	return name
}

func (i *image) id() string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(i.name))) }

// imageServer is the CRI's ImageService over the lab's fixed set of images.
type imageServer struct {
	runtimeapi.UnimplementedImageServiceServer
	images map[string]*image
}

// find takes a name or an image id.
func (s *imageServer) find(reference string) *image {
	if i, ok := s.images[repository(reference)]; ok {
		return i
	}
	for _, i := range s.images {
		if i.id() == reference {
			return i
		}
	}
	return nil
}

func (s *imageServer) missing(reference string) error {
	return status.Errorf(codes.NotFound, "image %q is none of the lab's and the lab has no registry; there are %s (any tag)",
		reference, strings.Join(slices.Sorted(maps.Keys(s.images)), ", "))
}

func (s *imageServer) describe(i *image, asked string) *runtimeapi.Image {
	out := &runtimeapi.Image{Id: i.id(), Size: 1 << 20, RepoDigests: []string{i.name + "@" + i.id()}}
	if asked != "" && !strings.HasPrefix(asked, "sha256:") {
		out.RepoTags = []string{asked}
	} else {
		out.RepoTags = []string{i.name + ":latest"}
	}
	var uid int64
	if n, err := fmt.Sscan(i.user, &uid); n == 1 && err == nil {
		out.Uid = &runtimeapi.Int64Value{Value: uid}
	} else {
		out.Uid = &runtimeapi.Int64Value{}
	}
	return out
}

func (s *imageServer) ImageStatus(_ context.Context, r *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	if i := s.find(r.GetImage().GetImage()); i != nil {
		return &runtimeapi.ImageStatusResponse{Image: s.describe(i, r.GetImage().GetImage())}, nil
	}
	return &runtimeapi.ImageStatusResponse{}, nil
}

func (s *imageServer) PullImage(_ context.Context, r *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	i := s.find(r.GetImage().GetImage())
	if i == nil {
		return nil, s.missing(r.GetImage().GetImage())
	}
	return &runtimeapi.PullImageResponse{ImageRef: i.id()}, nil
}

func (s *imageServer) ListImages(_ context.Context, r *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	out := &runtimeapi.ListImagesResponse{}
	if asked := r.GetFilter().GetImage().GetImage(); asked != "" {
		if i := s.find(asked); i != nil {
			out.Images = append(out.Images, s.describe(i, asked))
		}
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.images)) {
		out.Images = append(out.Images, s.describe(s.images[name], ""))
	}
	return out, nil
}

// RemoveImage does nothing: there is nothing to free.
func (s *imageServer) RemoveImage(context.Context, *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	return &runtimeapi.RemoveImageResponse{}, nil
}

func (s *imageServer) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest) (*runtimeapi.ImageFsInfoResponse, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs("/var/lib/kubelet", &stat); err != nil {
		return nil, err
	}
	usage := []*runtimeapi.FilesystemUsage{{
		Timestamp: time.Now().UnixNano(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: "/var/lib/kubelet"},
		UsedBytes:  &runtimeapi.UInt64Value{Value: 1 << 20},
		InodesUsed: &runtimeapi.UInt64Value{Value: 1},
	}}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}
