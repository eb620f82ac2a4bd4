// The quantised convolution of a TFLite model, as it is imported: the image is padded with its zero point before.
// All of it on integers, and beside it the same by its definition in 64 bits; the largest difference is 0.
#target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", features = "", vector_bits = 128, registers = 16, threads = 1>
builtin.module attributes {lamina.target = #target} {
  func.func @main(%image: tensor<1x3x32x32xf32> {lamina.name = "image"}) -> (tensor<1x32x16x16xui8> {lamina.name = "y"}, tensor<i64> {lamina.name = "difference"}, tensor<i64> {lamina.name = "total"}) {
    %weight = relay.constant dense<"0x71202F65144655BA8FCDC95F69820052A24C9FF851CED8C738C17DF2FA01150E027E4E4B331FD77DF7B758A95B1D9E8CF28AA50478F74F6A5221F104C4FFE1C07E8499B2783161B438DFFD811E542AA809C57761B002705935248B3EF998BF0A3A021D5F2FDD25199C9029E319D3BAA7E251E7E1137AE517F11BF2230C2D74A710F1DCBE8EE75399E87773B7822C84CDFF5F982908A25858FC711B677512C8A610B2406DBF0D8DAFE1627824151290E07BE9B7BE368A786011F8430CFAD3F2408F8738DF4D8868A0EB779C283AEE9506EF5F2ED88F17C82F5DDB670508444A687FA7EA6FCF8213413E4F25A359EB595078845D21FC4B7303973ABBBAB2B369DD9CAEE5D9D0725D137CD7A4C69773B8F2B47BA90473056665443E141554ED7260E0E9376C9992C0EEAA050B733FC1494E2E2DD037A3216B78CDD51EE63BB4AC8DF8B7CD6A5057189D3F1A68FBAD18F529E0CFA07641F7BC21EA2298AF3C902DE981433350653B579D6B69314D3E606306516ACC8CAC88EF86C3C135C073B07811BF8ACE179CAB9E2D9786F5D012705B0A244FF028B81CBDB14313E18BBD4DF875665A858D14D757D2A89DCD20A14CCED02A5DF04CCEA15444406200B31613E323C41C4B99F4298E2269532F4DDDD49639D15EF764A4AAD987FE2629B7AA10227165E1AAC161F57E28189A17E258A3B1292E5406E1CFDF2A0ACCB736C0B6D55AF51895D840461460CDAA94B34367A200A258A224953D683BC557CF4155FC1F5BB086EFAF625EE0CF36F499293A92470953592CD6DF3991BB05714250B1C8C44009B63F23650FA163AF8F4CF325A238E87F23704B5797471AE5D024B3B05F421742D338B5F2A6E1D7ECFA89D858EF0B9BE3780C863945E28954C16BDDE34BA488426D7EA1A6D7366953E06BC2A0EF982E7C9C9EAEAE091373F26D405AB1F46A40B85845A692C2F9A8899DD1E4D0F338C0F53A8F707ECA63C16A29BF90E53EBA04A0ED897C0157A0ABAD125C1BFC71AFAB2B5AC4C30747C953043421FB097EE5714AAF5FE2AEC1A3D79D0B7A7671BFBB2D7853B53C02F1FF0C6A4B8B43D1D7197B9104BD6AF75B619A434A547C435535CC59332E793CD7CDD4AB954148ABE56B561978D5586F18A8CB04C898AC77E213F04D9AC8164DF6344D255173B8EFBAEA8131BD5538D6F42BEBB68C0D0845A2913C3A4C84287543F8FAE98F380A066E3B7596"> : tensor<32x3x3x3xi8>
    %bias = relay.constant dense<[2710, 376, -587, 348, -2780, 2592, 779, -2763, 2481, -284, -2288, 786, -2587, 304, 1567, -2556, 1745, 559, -1056, -1667, -2932, -1827, -1294, 2272, 81, -1813, 1458, -275, 2011, 1501, 2599, 1243]> : tensor<32xi32>
    %s0 = relay.constant dense<0.0186579> : tensor<f32>
    %z0 = relay.constant dense<114> : tensor<i32>
    %s1 = relay.constant dense<0.00288958> : tensor<f32>
    %zero = relay.constant dense<0> : tensor<i32>
    %s2 = relay.constant dense<5.39136e-05> : tensor<f32>
    %s3 = relay.constant dense<0.0150183> : tensor<f32>
    %0 = relay.qnn.quantize %image, %s0, %z0 {out_dtype = "uint8", axis = 1} : (tensor<1x3x32x32xf32>, tensor<f32>, tensor<i32>) -> tensor<1x3x32x32xui8>
    %1 = relay.nn.pad %0 {pad_value = 114.0, pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x32x32xui8>) -> tensor<1x3x34x34xui8>
    %2 = relay.qnn.conv2d %1, %weight, %z0, %zero, %s0, %s1 {channels = 32, kernel_size = [3, 3], strides = [2, 2], padding = [0, 0, 0, 0], out_dtype = "int32"} : (tensor<1x3x34x34xui8>, tensor<32x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x32x16x16xi32>
    %3 = relay.nn.bias_add %2, %bias : (tensor<1x32x16x16xi32>, tensor<32xi32>) -> tensor<1x32x16x16xi32>
    %4 = relay.qnn.requantize %3, %s2, %zero, %s3, %zero {axis = 1, out_dtype = "uint8"} : (tensor<1x32x16x16xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x32x16x16xui8>

    // By definition: floor(x / s + 1/2), the sum of (q - 114) * w over the image padded with 0, and 1973546653 / 2**39
    // for the ratio of the scales, rounded up from a half on.
    %half = relay.constant dense<0.5> : tensor<f64>
    %image64 = relay.cast %image {dtype = "float64"} : (tensor<1x3x32x32xf32>) -> tensor<1x3x32x32xf64>
    %s64 = relay.cast %s0 {dtype = "float64"} : (tensor<f32>) -> tensor<f64>
    %d0 = relay.divide %image64, %s64 : (tensor<1x3x32x32xf64>, tensor<f64>) -> tensor<1x3x32x32xf64>
    %d1 = relay.add %d0, %half : (tensor<1x3x32x32xf64>, tensor<f64>) -> tensor<1x3x32x32xf64>
    %d2 = relay.floor %d1 : tensor<1x3x32x32xf64>
    %d3 = relay.clip %d2 {a_min = -114.0, a_max = 141.0} : tensor<1x3x32x32xf64>
    %d4 = relay.cast %d3 {dtype = "int64"} : (tensor<1x3x32x32xf64>) -> tensor<1x3x32x32xi64>
    %w64 = relay.cast %weight {dtype = "int64"} : (tensor<32x3x3x3xi8>) -> tensor<32x3x3x3xi64>
    %b64 = relay.cast %bias {dtype = "int64"} : (tensor<32xi32>) -> tensor<32xi64>
    %d5 = relay.nn.conv2d %d4, %w64 {strides = [2, 2], padding = [1, 1, 1, 1]} : (tensor<1x3x32x32xi64>, tensor<32x3x3x3xi64>) -> tensor<1x32x16x16xi64>
    %d6 = relay.nn.bias_add %d5, %b64 : (tensor<1x32x16x16xi64>, tensor<32xi64>) -> tensor<1x32x16x16xi64>
    %m = relay.constant dense<1973546653> : tensor<i64>
    %r = relay.constant dense<274877906944> : tensor<i64>
    %n = relay.constant dense<549755813888> : tensor<i64>
    %d7 = relay.multiply %d6, %m : (tensor<1x32x16x16xi64>, tensor<i64>) -> tensor<1x32x16x16xi64>
    %d8 = relay.add %d7, %r : (tensor<1x32x16x16xi64>, tensor<i64>) -> tensor<1x32x16x16xi64>
    %d9 = relay.floor_divide %d8, %n : (tensor<1x32x16x16xi64>, tensor<i64>) -> tensor<1x32x16x16xi64>
    %d10 = relay.clip %d9 {a_min = 0.0, a_max = 255.0} : tensor<1x32x16x16xi64>

    %q = relay.cast %4 {dtype = "int64"} : (tensor<1x32x16x16xui8>) -> tensor<1x32x16x16xi64>
    %e0 = relay.subtract %q, %d10 : tensor<1x32x16x16xi64>
    %e1 = relay.abs %e0 : tensor<1x32x16x16xi64>
    %difference = relay.max %e1 : (tensor<1x32x16x16xi64>) -> tensor<i64>
    %total = relay.sum %q : (tensor<1x32x16x16xi64>) -> tensor<i64>
    func.return %4, %difference, %total : tensor<1x32x16x16xui8>, tensor<i64>, tensor<i64>
  }
}
