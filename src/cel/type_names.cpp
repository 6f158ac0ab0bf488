#include "cel/type_names.h"

#include "cel/lists.h"
#include "cel/maps.h"

namespace gang::cel {

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kError:
      return "error";
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
    case Kind::kIp:
      return "net.IP";
    case Kind::kCidr:
      return "net.CIDR";
    case Kind::kUrl:
      return "kubernetes.URL";
    case Kind::kNamedFormat:
      return "kubernetes.NamedFormat";
  }
  return "";
}

bool fits_at_run_time(const Type& declared, const Value& value) {
  if (declared.kind == TypeKind::kParam || declared.kind == TypeKind::kDyn) return true;
  if (declared.name != type_name(value)) return false;
  if (declared.kind == TypeKind::kList) {
    return list_size(value) == 0 || fits_at_run_time(*declared.params[0], list_item(value, 0));
  }
  if (declared.kind == TypeKind::kMap) {
    const MapObject& map = value.as<MapObject>();
    return map.size == 0 || (fits_at_run_time(*declared.params[0], map.entries[0].key) &&
                             fits_at_run_time(*declared.params[1], map.entries[0].value));
  }
  return true;
}

}  // namespace gang::cel
